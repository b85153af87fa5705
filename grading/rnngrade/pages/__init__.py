"""What people read: the student's feedback page, the instructor's report, the marking page, formgrader."""
